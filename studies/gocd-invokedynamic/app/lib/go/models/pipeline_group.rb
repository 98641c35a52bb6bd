# frozen_string_literal: true

module Go
  class PipelineGroup
    attr_reader :name, :pipelines

    def initialize(name:, pipelines:)
      @name = name
      @pipelines = pipelines.freeze
      freeze
    end
  end
end
