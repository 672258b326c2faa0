"""The reference producer, ``StructureProducer``, and the commands that control it from any process.

Of the producer, this package may import ``settings`` and what is below them. Read ``structure_producer`` first.
"""
