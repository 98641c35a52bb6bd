
# As an MRI process ends it tells what its collector did: nothing runs in it before that.
begin
  target = ENV['BAKEOFF_PROBE']
  if target && !target.empty? && RUBY_ENGINE == 'ruby'
    at_exit do
      begin
        numbers = GC.stat.select { |_, value| value.is_a?(Integer) }
        json = '{' + numbers.map { |name, value| "\"#{name}\":#{value}" }.join(',') + '}'
        unfinished = "#{target}.gc.#{Process.pid}.unfinished"
        File.write(unfinished, json)
        File.rename(unfinished, "#{target}.gc.#{Process.pid}.json")
      rescue Exception # rubocop:disable Lint/RescueException: whatever goes wrong here is not the application's business
        nil
      end
    end
  end
rescue Exception # rubocop:disable Lint/RescueException: as above
  nil
end
