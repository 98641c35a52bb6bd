# frozen_string_literal: true

module Go
  class StageInstance
    attr_reader :name, :counter, :approved_by, :jobs

    def initialize(name:, counter:, approved_by:, jobs:)
      @name = name
      @counter = counter
      @approved_by = approved_by
      @jobs = jobs.freeze
      freeze
    end

    # A stage is what its jobs make of it: one failure fails it at once.
    def status
      results = jobs.map(&:result)
      if jobs.empty? then 'Unknown'
      elsif results.include?('Failed') then jobs.all?(&:completed?) ? 'Failed' : 'Failing'
      elsif jobs.all?(&:completed?) then 'Passed'
      else 'Building'
      end
    end

    def scheduled?
      jobs.any?
    end

    def active?
      scheduled? && !jobs.all?(&:completed?)
    end
  end
end
