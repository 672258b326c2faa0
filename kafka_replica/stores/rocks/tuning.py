"""The resources of a database, as RocksDB's options."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_replica.errors import ConfigurationError, MissingExtraError

try:
    import rocksdict
except ImportError as error:
    raise MissingExtraError("the store on disk", "rocksdb") from error

_MOST_NEW_FILES = 36


@dataclass(frozen=True, slots=True)
class Tuning:
    """The resources of a database; sizes in bytes."""

    block_cache_bytes: int = 64 << 20
    write_buffer_bytes: int = 32 << 20
    is_synced: bool = False
    """Wait for the disk before publishing, to survive power cuts. A crash of the process loses nothing anyway."""

    def __post_init__(self) -> None:
        if self.block_cache_bytes < 0 or self.write_buffer_bytes < 1 << 16:
            raise ConfigurationError(
                "block_cache_bytes is a number of bytes, 0 or more, and write_buffer_bytes at least 65536"
            )

    def options(self, *, creates: bool) -> rocksdict.Options:
        """Return the options for RocksDB.

        Args:
            creates: whether to create a missing database.
        """
        table = rocksdict.BlockBasedOptions()
        table.set_block_cache(rocksdict.Cache(self.block_cache_bytes))
        table.set_bloom_filter(10, block_based=False)
        # Indexes and filters stay in memory, outside the cache: a few bytes per key. In the cache they evict each
        # other, and a look-up reads a filter of 100 KB for a record of 1 KB: ten times as slow with 1,000,000 keys.
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(creates)
        options.set_block_based_table_factory(table)
        options.set_write_buffer_size(self.write_buffer_bytes)
        options.set_max_write_buffer_number(2)
        options.set_level_zero_slowdown_writes_trigger(_MOST_NEW_FILES)  # accept or stall writes, never slow them down
        options.set_level_zero_stop_writes_trigger(_MOST_NEW_FILES)
        options.set_max_total_wal_size(4 * self.write_buffer_bytes)
        options.set_keep_log_file_num(2)
        options.set_compression_type(rocksdict.DBCompressionType.lz4())
        return options
