# Written and required by bakeoff (RUBYOPT=-r) in every variant alike: tells at the start what this process runs with, and
# once, when it is asked, which gems it has loaded, and whether YJIT is on by then. Needs no library, and must never disturb the application.
begin
  target = ENV['BAKEOFF_PROBE']
  if target && !target.empty?
    quote = lambda do |value|
      value.nil? ? 'null' : '"' + value.to_s.gsub(/[\\"\x00-\x1f]/) { |c| format('\\u%04x', c.ord) } + '"'
    end
    facts = { 'engine' => RUBY_ENGINE, 'engine_version' => RUBY_ENGINE_VERSION, 'ruby' => RUBY_VERSION }
    facts['exe'] = File.readlink('/proc/self/exe')
    facts['place'] = File.read('/proc/self/stat').rpartition(')').last.split.values_at(25, 45).join(' ')
    options = []
    if RUBY_ENGINE == 'jruby'
      require 'java'
      facts['java'] = Java::JavaLang::System.getProperty('java.version')
      options = Java::OrgJrubyUtilCli::Options::PROPERTIES.map do |option|
        # What cannot be loaded is left out rather than guessed.
        begin
          '{"name":' + quote.(option.shortName) + ',"value":' + quote.(option.load) +
            ',"default":' + quote.(option.defaultValue) + '}'
        rescue StandardError, NotImplementedError
          nil
        end
      end.compact
    elsif defined?(RubyVM::YJIT)
      facts['yjit'] = RubyVM::YJIT.enabled?
    end
    require 'rbconfig'
    build = %w[ruby_install_name configure_args CC optflags MAINLIBS arch].map do |name|
      RbConfig::CONFIG[name] && quote.(name) + ':' + quote.(RbConfig::CONFIG[name])
    end.compact
    # Its switches, such as `+indy` or `+YJIT`, say how it runs: settings, which are read by themselves.
    build << quote.('description') + ':' + quote.(RUBY_DESCRIPTION.gsub(/ [+-]\w+/, ''))
    # A program may show another title later.
    argv = [$0, *ARGV].map { |word| quote.(word) }
    json = facts.map { |name, value| quote.(name) + ':' + quote.(value) }.join(',') +
           ',"argv":[' + argv.join(',') + '],"build":{' + build.join(',') + '}' +
           ',"options":[' + options.join(',') + ']'
    # A child of the server that runs Ruby, too, writes files of its own.
    write = lambda do |kind, members|
      unfinished = "#{target}.#{Process.pid}#{kind}.unfinished"
      File.write(unfinished, '{' + members + '}')
      File.rename(unfinished, "#{target}.#{Process.pid}#{kind}.json")
    end
    write.('', json)

    # Asked once more when the application has answered, before it is loaded: which gems it has by then, and YJIT, which it may
    # have turned on itself, as Rails does. The thread is gone when the measurement begins. What else a process has to do
    # when it is asked, later parts of this file add.
    when_asked = []
    has_reported = false
    tell = lambda do
      teller = Thread.new do
        6000.times do
          sleep 0.1
          next unless File.exist?("#{target}.ask")
          when_asked.each(&:call)
          gems = defined?(Gem) ? Gem.loaded_specs.values.sort_by(&:name) : []
          gems = gems.map { |gem| quote.(gem.name) + ':' + quote.(gem.version) }.join(',')
          yjit = facts.key?('yjit') ? RubyVM::YJIT.enabled? : nil
          write.('.loaded', '"yjit":' + quote.(yjit) + ',"gems":{' + gems + '}')
          break
        end
        has_reported = true
      end
      teller.report_on_exception = false
    end
    tell.()

    # A forked process is without its parent's threads, and may load gems of its own. Once the parent has reported, so has whoever
    # it forks. Here, too, later parts of this file add what else there is to do.
    when_forked = [lambda do
      unless has_reported
        write.('', json + ',"forked":true')
        tell.()
      end
    end]
    if RUBY_ENGINE == 'ruby' && Process.respond_to?(:_fork)
      forked = Module.new do
        define_method(:_fork) do
          pid = super()
          if pid.zero?
            begin
              when_forked.each(&:call)
            rescue Exception # rubocop:disable Lint/RescueException: as below
              nil
            end
          end
          pid
        end
      end
      Process.singleton_class.prepend(forked)
    end
  end
rescue Exception # rubocop:disable Lint/RescueException: whatever goes wrong here is not the application's business
  nil
end
