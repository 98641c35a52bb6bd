# frozen_string_literal: true

module Go
  class JobConfig
    Artifact = Struct.new(:type, :source, :destination)

    RUN_TYPES = %w[one some all].freeze

    attr_reader :name, :resources, :timeout, :run_type, :tasks, :artifacts, :variables

    def initialize(name:, resources: [], timeout: nil, run_type: 'one', tasks: [], artifacts: [], variables: [])
      @name = name
      @resources = resources.freeze
      @timeout = timeout
      @run_type = run_type
      @tasks = tasks.freeze
      @artifacts = artifacts.each(&:freeze).freeze
      @variables = variables.freeze
      freeze
    end

    def resource_list
      resources.sort.join(', ')
    end
  end
end
