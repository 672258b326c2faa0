"""The one room of Kafka's client library: reading, asking, settings, and what its errors mean."""
