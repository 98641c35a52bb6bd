# frozen_string_literal: true

module Go
  class JobInstance
    attr_reader :name, :state, :result, :agent, :scheduled_at, :completed_at

    def initialize(name:, state:, result:, agent:, scheduled_at:, completed_at:)
      @name = name
      @state = state
      @result = result
      @agent = agent
      @scheduled_at = scheduled_at
      @completed_at = completed_at
      freeze
    end

    def completed?
      state == 'Completed'
    end

    def seconds
      completed? ? (completed_at - scheduled_at).to_i : nil
    end
  end
end
