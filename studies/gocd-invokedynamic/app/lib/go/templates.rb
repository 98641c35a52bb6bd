# frozen_string_literal: true

module Go
  # All templates of the application by name ("stages/settings", "stages/_job").
  class Templates
    SUFFIX = '.html.erb'

    def self.load(root)
      view_class = Class.new(View)
      # Sorted, since the order of a directory differs between file systems.
      methods = Dir.glob(File.join(root, '**', "*#{SUFFIX}")).sort.to_h do |path|
        template = Template.new(path.delete_prefix("#{root}/").delete_suffix(SUFFIX), path)
        template.define_in(view_class)
        [template.name, template.method_name.to_sym]
      end
      new(view_class, methods)
    end

    def initialize(view_class, methods)
      @view_class = view_class
      @methods = methods.freeze
      freeze
    end

    def method_for(name)
      @methods.fetch(name)
    end

    # One view for one request.
    def view(request, assigns = {})
      @view_class.new(self, request, assigns)
    end
  end
end
