# frozen_string_literal: true

# Required before anything else on JRuby (RUBYOPT): Debian's pure-Ruby libraries, the same files that MRI runs. They stand behind JRuby's own
# libraries, since among them are some that MRI's C code belongs to.
$LOAD_PATH.concat(Dir['/usr/share/rubygems-integration/all/gems/*/lib']).push('/usr/lib/ruby/vendor_ruby')
