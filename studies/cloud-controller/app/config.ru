# frozen_string_literal: true

# For jruby-rack. Absolute, because it evaluates this file without a __dir__.
require File.join(JRuby::Rack.app_path, 'cloud_controller')
DB.fill_pool

run CloudController
