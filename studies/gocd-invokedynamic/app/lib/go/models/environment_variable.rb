# frozen_string_literal: true

module Go
  class EnvironmentVariable
    MASK = '****'

    attr_reader :name

    def initialize(name, value, secure: false)
      @name = name
      @value = value
      @secure = secure
      freeze
    end

    def secure?
      @secure
    end

    # The secret itself never reaches a page.
    def display_value
      secure? ? MASK : @value
    end
  end
end
