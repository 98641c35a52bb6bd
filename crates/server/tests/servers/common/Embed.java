import org.jruby.embed.ScriptingContainer;

/** Runs a Ruby script inside a Java program; JRuby reads neither RUBYOPT nor a command line then. */
public class Embed {
    public static void main(String[] args) {
        ScriptingContainer container = new ScriptingContainer();
        container.setArgv(new String[] {args[1]});
        container.runScriptlet(org.jruby.embed.PathType.ABSOLUTE, args[0]);
    }
}
