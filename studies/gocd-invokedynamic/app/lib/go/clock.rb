# frozen_string_literal: true

module Go
  # The study's clock stands still: pages show ages ("3 days ago"), and the same
  # request must give the same bytes in every run and every variant.
  module Clock
    NOW = Time.utc(2015, 6, 12, 9, 30, 0).freeze

    UNITS = [[86_400, 'day'], [3_600, 'hour'], [60, 'minute']].freeze

    module_function

    def now
      NOW
    end

    def ago(time)
      seconds = (now - time).to_i
      UNITS.each do |length, unit|
        count = seconds / length
        return "#{count} #{unit}#{'s' if count > 1} ago" if count.positive?
      end
      'less than a minute ago'
    end
  end
end
