# frozen_string_literal: true

module Go
  # '/go/admin/pipelines/:pipeline/...' to a controller's action.
  class Router
    Route = Struct.new(:request_method, :pattern, :names, :controller, :action) do
      def match(request)
        return unless request.request_method == request_method && (found = pattern.match(request.path))

        names.zip(found.captures.map { |value| Router.unescape(value) }).to_h
      end
    end

    def self.unescape(segment)
      CGI.unescape(segment.gsub('+', '%2B'))
    end

    def initialize(&block)
      @routes = []
      instance_eval(&block)
      @routes.freeze
      freeze
    end

    # [route, params], or nil when the server has no such page.
    def find(request)
      @routes.each do |route|
        params = route.match(request)
        return [route, params] if params
      end
      nil
    end

    private

    def get(path, controller, action)
      names = path.scan(/:(\w+)/).map { |(name)| name.to_sym }.freeze
      pattern = Regexp.new("\\A#{path.gsub('.', '\\.').gsub(/:\w+/, '([^/]+)')}\\z")
      @routes << Route.new('GET', pattern, names, controller, action).freeze
    end
  end
end
