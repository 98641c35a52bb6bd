# frozen_string_literal: true

module Go
  class StageConfig
    APPROVALS = %w[success manual].freeze

    attr_reader :name, :approval, :fetch_materials, :never_cleanup, :clean_working_dir, :jobs, :variables

    def initialize(name:, approval: 'success', fetch_materials: true, never_cleanup: false,
                   clean_working_dir: false, jobs: [], variables: [])
      @name = name
      @approval = approval
      @fetch_materials = fetch_materials
      @never_cleanup = never_cleanup
      @clean_working_dir = clean_working_dir
      @jobs = jobs.freeze
      @variables = variables.freeze
      freeze
    end

    def manual?
      approval == 'manual'
    end
  end
end
