# frozen_string_literal: true

module Go
  class PipelineConfig
    attr_reader :name, :label_template, :materials, :stages, :paused_by, :pause_cause

    def initialize(name:, materials:, stages:, label_template: '${COUNT}', paused_by: nil, pause_cause: nil)
      @name = name
      @label_template = label_template
      @materials = materials.freeze
      @stages = stages.freeze
      @paused_by = paused_by
      @pause_cause = pause_cause
      freeze
    end

    def stage(name)
      stages.find { |stage| stage.name == name }
    end

    def paused?
      !paused_by.nil?
    end

    def label(counter)
      label_template.gsub('${COUNT}', counter.to_s)
    end
  end
end
