# frozen_string_literal: true

module Go
  # The little of a Rack request that the application looks at.
  class Request
    attr_reader :params

    def initialize(env, params = {})
      @env = env
      @params = params
    end

    def with_params(params)
      Request.new(@env, params)
    end

    # HEAD is a GET whose body the server leaves out.
    def request_method
      method = @env['REQUEST_METHOD']
      method == 'HEAD' ? 'GET' : method
    end

    def path
      "#{@env['SCRIPT_NAME']}#{@env['PATH_INFO']}"
    end

    def log(message)
      @env['rack.errors']&.puts(message)
    end
  end
end
