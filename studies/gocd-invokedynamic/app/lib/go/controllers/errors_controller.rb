# frozen_string_literal: true

module Go
  class ErrorsController < Controller
    def not_found
      html 'errors/not_found', status: 404, layout: 'error', title: '404'
    end

    def internal
      html 'errors/internal', status: 500, layout: 'error', title: '500'
    end
  end
end
