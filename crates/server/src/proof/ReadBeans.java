// Written and run by bakeoff: reads attributes of managed beans of another JVM on this machine.

import com.sun.tools.attach.VirtualMachine;
import java.util.Set;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

public class ReadBeans {
    /** PID, then pairs of a bean and an attribute. Prints {@code 0 = value} or {@code 0 ! reason} for each pair. */
    public static void main(String[] args) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(args[0]);
        String address = machine.startLocalManagementAgent();
        machine.detach();
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            for (int at = 1; at + 1 < args.length; at += 2) {
                int index = (at - 1) / 2;
                try {
                    String value = String.valueOf(read(beans, args[at], args[at + 1]));
                    System.out.println(index + " = " + value.replaceAll("\\s+", " "));
                } catch (Exception error) {
                    System.out.println(index + " ! " + String.valueOf(error).replaceAll("\\s+", " "));
                }
            }
        }
    }

    private static Object read(MBeanServerConnection beans, String bean, String attribute) throws Exception {
        ObjectName wanted = new ObjectName(bean);
        Set<ObjectName> found = beans.queryNames(wanted, null);
        if (found.size() != 1) {
            throw new IllegalArgumentException(found.size() + " beans are called " + bean + ", not one " + found);
        }
        ObjectName name = found.iterator().next();
        int dot = attribute.indexOf('.');
        if (dot < 0) {
            return beans.getAttribute(name, attribute);
        }
        return ((CompositeData) beans.getAttribute(name, attribute.substring(0, dot))).get(attribute.substring(dot + 1));
    }
}
