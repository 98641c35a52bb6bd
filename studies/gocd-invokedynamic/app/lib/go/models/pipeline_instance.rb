# frozen_string_literal: true

module Go
  class PipelineInstance
    attr_reader :config, :counter, :scheduled_at, :build_cause, :stages

    def initialize(config:, counter:, scheduled_at:, build_cause:, stages:)
      @config = config
      @counter = counter
      @scheduled_at = scheduled_at
      @build_cause = build_cause
      @stages = stages.freeze
      freeze
    end

    def name
      config.name
    end

    def label
      config.label(counter)
    end

    def active?
      stages.any?(&:active?)
    end
  end
end
