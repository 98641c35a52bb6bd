# frozen_string_literal: true

module Go
  # Renders one page for one request; never shared between threads.
  class View
    include UrlHelper
    include TagHelper
    include TranslationHelper
    include FormHelper
    include NavigationHelper
    include StageHelper

    attr_reader :request

    def initialize(templates, request, assigns)
      @templates = templates
      @request = request
      @assigns = assigns
      @output = SafeString.new
      @page = SafeString.new
    end

    # A partial's name carries an underscore in its file name only.
    def render(partial, **locals)
      folder, _, file = partial.rpartition('/')
      capture { call_template("#{folder}/_#{file}", locals) }
    end

    def render_page(template, layout:)
      @page = capture { call_template(template, @assigns) }
      capture { call_template("layouts/#{layout}", @assigns) }
    end

    # The page inside of its layout.
    def page
      @page
    end

    # Collects what the block writes, as a value of its own.
    def capture
      outer = @output
      @output = SafeString.new
      yield
      @output
    ensure
      @output = outer
    end

    def concat(value)
      @output.append(value)
      nil
    end

    def user
      'admin'
    end

    def session_id
      'study-session'
    end

    private

    def call_template(name, locals)
      public_send(@templates.method_for(name), locals)
    end
  end
end
