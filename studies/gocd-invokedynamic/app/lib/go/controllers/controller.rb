# frozen_string_literal: true

module Go
  # One controller object answers one request.
  class Controller
    # Raised by an action when what the path names does not exist.
    class NotFound < StandardError; end

    attr_reader :request, :repository

    def initialize(request, repository:, templates:)
      @request = request
      @repository = repository
      @templates = templates
    end

    private

    def params
      request.params
    end

    def html(template, status: 200, layout: 'application', **assigns)
      answer(status, 'text/html', @templates.view(request, assigns).render_page(template, layout: layout))
    end

    def json(data)
      answer(200, 'application/json', JSON.generate(data))
    end

    def answer(status, type, body)
      headers = {
        'Content-Type' => "#{type}; charset=utf-8",
        'Content-Length' => body.bytesize.to_s,
        'Cache-Control' => 'max-age=0, private, must-revalidate'
      }
      [status, headers, [body]]
    end
  end
end
