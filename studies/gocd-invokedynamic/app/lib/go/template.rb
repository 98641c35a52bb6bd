# frozen_string_literal: true

module Go
  # One ERB file, compiled at start into a method of the view class, as Rails
  # does: a request then runs compiled Ruby instead of evaluating source.
  class Template
    # ERB that escapes what it inserts: the template's own text goes through <<,
    # <%= %> through `append`.
    class Compiler < ERB
      def set_eoutvar(compiler, _name = nil)
        compiler.put_cmd = '@output <<'
        compiler.insert_cmd = '@output.append'
        compiler.pre_cmd = []
        compiler.post_cmd = []
      end
    end

    attr_reader :name

    def initialize(name, path)
      @name = name
      @path = path
    end

    def method_name
      "render_#{name.gsub(/\W/, '_')}"
    end

    # Locals are the keys of a hash, so one method serves every call.
    def define_in(view_class)
      # Explicit UTF-8: the default depends on the JDK and on the locale.
      source = Compiler.new(File.read(@path, encoding: 'UTF-8'), trim_mode: '-').src
      view_class.class_eval("def #{method_name}(locals)\n#{source}\nend", @path, 0)
    end
  end
end
