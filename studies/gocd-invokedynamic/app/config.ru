# frozen_string_literal: true

# Absolute, because jruby-rack evaluates this file without a __dir__.
root = JRuby::Rack.app_path
$LOAD_PATH.unshift(File.join(root, 'lib'))

require 'go'

run Go.application(root)
