
# Only in a launch that is watched, and not measured: MRI takes samples of itself by the gem stackprof for as long as a file is there,
# which says where the gem is.
begin
  if target && !target.empty? && RUBY_ENGINE == 'ruby'
    text = ->(value) { value.to_s.dup.force_encoding('UTF-8').scrub.gsub(/:?0x\h{8,}/, '') }
    # What C implements has no line of its own.
    place = lambda do |frame|
      file = text.(frame[:file]).split('/').last(2).join('/')
      text.(frame[:name]) + (frame[:line] ? " (#{file}:#{frame[:line]})" : '')
    end
    own = File.realpath(__FILE__)
    add_up = lambda do |results|
      sums = { 'methods' => Hash.new(0), 'ruby_methods' => Hash.new(0) }
      raw = results.fetch(:raw, [])
      at = 0
      while at < raw.size
        # The number of frames, the frames from the first caller on, and how many samples saw just these one after another.
        top = at + raw[at]
        frames = raw[at + 1..top].reverse.map { |id| results[:frames].fetch(id) }
        seen = raw[top + 1]
        at = top + 2
        # The threads of this file.
        next if frames.last[:file] == own
        ruby = frames.find { |frame| frame[:line] }
        sums['methods'][place.(frames.first)] += seen
        sums['ruby_methods'][place.(ruby)] += seen if ruby
      end
      sums.map do |list, counts|
        quote.(list) + ':{' + counts.map { |name, count| quote.(name) + ':' + count.to_s }.join(',') + '}'
      end.join(',')
    end
    sample = lambda do
      sampler = Thread.new do
        said = '.sampling'
        begin
          sleep 0.1 until File.exist?("#{target}.sample")
          # Behind the application's own, where its bundle has the gem.
          $LOAD_PATH.concat(File.readlines("#{target}.sample", chomp: true))
          require 'stackprof'
          raise 'the program uses stackprof itself' if StackProf.running?
          # What a forked process has of its parent's is not its own.
          StackProf.results
          # Microseconds of CPU time, whoever used it: who waits is not what the server's time goes into.
          StackProf.start(mode: :cpu, interval: 1000, raw: true)
          write.(said, '')
          said = '.samples'
          sleep 0.1 while File.exist?("#{target}.sample")
          StackProf.stop
          results = StackProf.results
          File.binwrite("#{target}.#{Process.pid}.stackprof", Marshal.dump(results))
          write.(said, add_up.(results))
        rescue Exception => error # rubocop:disable Lint/RescueException: it is reported, and is not the application's business
          write.(said, '"error":' + quote.(text.(error.message)))
        end
      end
      sampler.report_on_exception = false
    end
    when_forked << sample
    sample.()
  end
rescue Exception # rubocop:disable Lint/RescueException: as above
  nil
end
