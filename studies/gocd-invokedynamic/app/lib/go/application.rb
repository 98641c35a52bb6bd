# frozen_string_literal: true

module Go
  # The Rack application. Shared by all threads, hence frozen.
  class Application
    def initialize(router:, repository:, templates:)
      @router = router
      @services = { repository: repository, templates: templates }.freeze
      freeze
    end

    def call(env)
      request = Request.new(env)
      begin
        dispatch(request)
      rescue Controller::NotFound
        errors(request).not_found
      rescue StandardError => e
        request.log("#{e.class}: #{e.message}\n  #{Array(e.backtrace).first(20).join("\n  ")}")
        errors(request).internal
      end
    end

    private

    def dispatch(request)
      route, params = @router.find(request)
      raise Controller::NotFound unless route

      route.controller.new(request.with_params(params), **@services).public_send(route.action)
    end

    def errors(request)
      ErrorsController.new(request, **@services)
    end
  end
end
