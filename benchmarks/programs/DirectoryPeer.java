import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer that fills a ConcurrentHashMap with objects, as a service in Java would: DirectoryPeer BOOTSTRAP TOPIC. */
public final class DirectoryPeer {
    /** The same fields as the type in directories.py. */
    public static final class Terminal {
        public String terminal_id;
        public String acquirer_id;
        public String serial_number;
        public String city;
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", arguments[0], "isolation.level", "read_committed", "enable.auto.commit", "false",
            "key.deserializer", ByteArrayDeserializer.class, "value.deserializer", ByteArrayDeserializer.class);
        ObjectMapper mapper = new ObjectMapper();
        Map<String, Terminal> terminals = new ConcurrentHashMap<>();
        mapper.readValue("{}", Terminal.class); // classes are loaded, as our imports are done
        long beganNs = System.nanoTime();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
            TopicPartition partition = new TopicPartition(arguments[1], 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    Terminal terminal = mapper.readValue(record.value(), Terminal.class);
                    terminals.put(terminal.terminal_id, terminal);
                }
            }
            double tookS = (System.nanoTime() - beganNs) / 1e9;
            System.out.printf("{\"what\": \"directory, Java\", \"keys\": %d, \"s\": %.4f}%n", terminals.size(), tookS);
        }
    }
}
