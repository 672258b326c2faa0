"""The commands of ``kafka-replica``, one module each; what several of them need is in the package above."""
