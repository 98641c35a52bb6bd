# frozen_string_literal: true

module Go
  # All that the server knows, in memory: the study is about the Ruby of the
  # pages, so no database takes part.
  class Repository
    attr_reader :groups

    def initialize(groups:, instances:)
      @groups = groups.freeze
      @pipelines = groups.flat_map(&:pipelines).to_h { |pipeline| [pipeline.name, pipeline] }.freeze
      @instances = instances.group_by(&:name).freeze
      freeze
    end

    def pipeline(name)
      @pipelines[name]
    end

    def instances_of(pipeline)
      @instances.fetch(pipeline.name, [])
    end

    # The group a pipeline is in, by a search as good as five pipelines need.
    def group_of(pipeline)
      groups.find { |group| group.pipelines.include?(pipeline) }
    end
  end
end
