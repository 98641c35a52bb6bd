// Written and run by bakeoff: reads attributes of managed beans of another JVM on this machine.

import com.sun.tools.attach.VirtualMachine;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

public class ReadBeans {
    /**
     * PID, then pairs of a bean and an attribute. Prints lines of a pair's index, a word and a text: {@code 0 = value}, {@code 0 !
     * reason}, or a name a line of what there is instead: {@code bean} where none is called so, {@code several} where more than one
     * is, {@code attribute} where it has no such one, {@code part} where the attribute has no such part.
     */
    public static void main(String[] args) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(args[0]);
        String address = machine.startLocalManagementAgent();
        machine.detach();
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            for (int at = 1; at + 1 < args.length; at += 2) {
                int index = (at - 1) / 2;
                try {
                    read(beans, index, args[at], args[at + 1]);
                } catch (MalformedObjectNameException error) {
                    say(index, "!", "`" + args[at] + "` is no name of a bean: " + error.getMessage());
                } catch (Exception error) {
                    say(index, "!", "the server's own bean fails when it is asked: " + cause(error));
                }
            }
        }
    }

    private static void read(MBeanServerConnection beans, int index, String bean, String attribute) throws Exception {
        Set<ObjectName> found = beans.queryNames(new ObjectName(bean), null);
        if (found.size() != 1) {
            Set<ObjectName> instead = found.isEmpty() ? beans.queryNames(null, null) : found;
            list(index, found.isEmpty() ? "bean" : "several", names(instead.stream().map(ObjectName::toString)));
            return;
        }
        ObjectName name = found.iterator().next();
        List<String> known = names(Stream.of(beans.getMBeanInfo(name).getAttributes()).map(MBeanAttributeInfo::getName));
        String[] whole = known.contains(attribute) ? new String[] {attribute} : attribute.split("\\.", 2);
        if (known.isEmpty()) {
            say(index, "!", "bean `" + name + "` has no attributes");
            return;
        }
        if (!known.contains(whole[0])) {
            list(index, "attribute", known);
            return;
        }
        Object value = beans.getAttribute(name, whole[0]);
        if (whole.length == 1) {
            say(index, "=", String.valueOf(value));
        } else if (!(value instanceof CompositeData)) {
            say(index, "!", "attribute `" + whole[0] + "` has no parts, so there is no `" + whole[1] + "` in it: ask for `" + whole[0] + "`");
        } else if (!((CompositeData) value).containsKey(whole[1])) {
            list(index, "part", names(((CompositeData) value).getCompositeType().keySet().stream()));
        } else {
            say(index, "=", String.valueOf(((CompositeData) value).get(whole[1])));
        }
    }

    private static List<String> names(Stream<String> names) {
        return names.sorted().collect(Collectors.toList());
    }

    private static void list(int index, String word, Collection<String> names) {
        names.forEach(name -> say(index, word, name));
    }

    private static void say(int index, String word, String text) {
        System.out.println(index + " " + word + " " + text.replaceAll("\\s+", " "));
    }

    /** What went wrong first: the rest is how it came here. */
    private static String cause(Throwable error) {
        while (error.getCause() != null) {
            error = error.getCause();
        }
        String kind = error.getClass().getSimpleName();
        return error.getMessage() == null ? kind : kind + ": " + error.getMessage();
    }
}
