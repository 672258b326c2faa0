import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Kafka Streams' GlobalKTable, measured.
 *
 * <p>GlobalTablePeer ready BOOTSTRAP TOPIC FOLDER memory|disk: from start() to RUNNING, with larger fetches than the
 * defaults; prints the seconds, the processor seconds and the number of entries.
 *
 * <p>GlobalTablePeer visible BOOTSTRAP TOPIC FOLDER TRANSACTIONS: from the return of a commit until the table returns
 * the last of ten records, with the default settings; prints the median and the 99th percentile in milliseconds.
 */
public final class GlobalTablePeer {
    private static final String STORE = "table";
    private static final int RECORDS = 10;
    private static final int WARM_UP = 100;
    private static final int VALUE_BYTES = 200;
    /** A tight loop would take one of two cores away from the broker. */
    private static final long PAUSE_NS = 50_000;

    private GlobalTablePeer() {}

    public static void main(String[] arguments) throws Exception {
        String line = switch (arguments[0]) {
            case "ready" -> ready(arguments[1], arguments[2], arguments[3], arguments[4].equals("disk"));
            case "visible" -> visible(arguments[1], arguments[2], arguments[3], Integer.parseInt(arguments[4]));
            default -> throw new IllegalArgumentException("not ready or visible: " + arguments[0]);
        };
        System.out.println(line);
        System.exit(0);
    }

    private static String ready(String bootstrap, String topic, String folder, boolean onDisk) throws Exception {
        var settings = settings(bootstrap, folder);
        settings.put("global.consumer.max.poll.records", 10_000);
        settings.put("global.consumer.max.partition.fetch.bytes", 16 << 20);
        settings.put("global.consumer.fetch.max.bytes", 64 << 20);
        settings.put("global.consumer.receive.buffer.bytes", 1 << 20);
        var running = new CountDownLatch(1);
        var streams = streams(topic, settings, onDisk, running);
        double busy = processorSeconds();
        long start = System.nanoTime();
        streams.start();
        running.await();
        double seconds = (System.nanoTime() - start) / 1e9;
        busy = processorSeconds() - busy;
        long entries = count(table(streams));
        streams.close();
        return String.format(Locale.ROOT, "{\"s\": %.4f, \"cpu_s\": %.2f, \"keys\": %d}", seconds, busy, entries);
    }

    private static String visible(String bootstrap, String topic, String folder, int transactions) throws Exception {
        var running = new CountDownLatch(1);
        var streams = streams(topic, settings(bootstrap, folder), false, running);
        streams.start();
        running.await();
        var table = table(streams);
        var last = Bytes.wrap(key(RECORDS - 1));
        var took = new double[WARM_UP + transactions];
        try (var producer = producer(bootstrap)) {
            for (int number = 0; number < took.length; number++) {
                byte[] value = value(number);
                producer.beginTransaction();
                for (int record = 0; record < RECORDS; record++) {
                    producer.send(new ProducerRecord<>(topic, key(record), value));
                }
                producer.flush();
                producer.commitTransaction();
                long committed = System.nanoTime();
                while (!Arrays.equals(table.get(last), value)) {
                    LockSupport.parkNanos(PAUSE_NS);
                }
                took[number] = (System.nanoTime() - committed) / 1e6;
                Thread.sleep(10);
            }
        }
        streams.close(Duration.ofSeconds(5));
        var sorted = Arrays.copyOfRange(took, WARM_UP, took.length);
        Arrays.sort(sorted);
        return String.format(Locale.ROOT, "{\"p50_ms\": %.3f, \"p99_ms\": %.3f}",
            sorted[sorted.length / 2], sorted[sorted.length * 99 / 100]);
    }

    private static Properties settings(String bootstrap, String folder) {
        var settings = new Properties();
        settings.put("application.id", "global-table-peer");
        settings.put("bootstrap.servers", bootstrap);
        settings.put("state.dir", folder);
        settings.put("global.consumer.isolation.level", "read_committed");
        return settings;
    }

    private static KafkaStreams streams(String topic, Properties settings, boolean onDisk, CountDownLatch running) {
        var store = onDisk ? Stores.persistentKeyValueStore(STORE) : Stores.inMemoryKeyValueStore(STORE);
        var builder = new StreamsBuilder();
        builder.globalTable(topic, Consumed.with(Serdes.Bytes(), Serdes.ByteArray()),
            Materialized.<Bytes, byte[]>as(store));
        var streams = new KafkaStreams(builder.build(), settings);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                running.countDown();
            }
        });
        return streams;
    }

    private static ReadOnlyKeyValueStore<Bytes, byte[]> table(KafkaStreams streams) {
        return streams.store(StoreQueryParameters.fromNameAndType(STORE, QueryableStoreTypes.keyValueStore()));
    }

    private static long count(ReadOnlyKeyValueStore<Bytes, byte[]> table) {
        long entries = 0;
        try (KeyValueIterator<Bytes, byte[]> all = table.all()) {
            for (; all.hasNext(); all.next()) {
                entries++;
            }
        }
        return entries;
    }

    private static KafkaProducer<byte[], byte[]> producer(String bootstrap) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", "global-table-peer-" + UUID.randomUUID());
        settings.put("linger.ms", 0);
        var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        return producer;
    }

    private static byte[] key(int record) {
        return ("key-" + record).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int number) {
        return Arrays.copyOf(String.valueOf(number).getBytes(StandardCharsets.UTF_8), VALUE_BYTES);
    }

    private static double processorSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9;
    }
}
