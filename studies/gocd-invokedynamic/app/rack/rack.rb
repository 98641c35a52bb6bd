# frozen_string_literal: true

# What jruby-rack asks of `require 'rack'`, and nothing more.
#
# jruby-rack 1.2 brings a copy of Rack along, 2.0 does not. This folder stands
# first on the load path (see Server.java), so both run the very same Ruby code
# and a difference between two variants cannot come from two versions of Rack.
module Rack
  VERSION = [1, 3].freeze
  RELEASE = '2.2.0'

  def self.version = VERSION.join('.')
  def self.release = RELEASE

  # jruby-rack mixes its servlet helpers in here; the application has a request
  # class of its own.
  class Request
    module Helpers
      attr_reader :env
    end
    include Helpers
  end

  # config.ru is evaluated inside a builder.
  class Builder
    def initialize(&block)
      @middleware = []
      instance_eval(&block) if block
    end

    def use(middleware, *args, &block)
      @middleware << ->(app) { middleware.new(app, *args, &block) }
    end

    def run(app)
      @app = app
    end

    def to_app
      raise 'config.ru has no `run`' unless @app

      @middleware.reverse.inject(@app) { |app, wrap| wrap.call(app) }
    end
  end
end
