# frozen_string_literal: true

module Go
  # Where a pipeline takes its sources from.
  class Material
    attr_reader :name, :url, :folder

    def initialize(name:, url:, folder: nil)
      @name = name
      @url = url
      @folder = folder
      freeze
    end

    def type
      raise NotImplementedError
    end

    def display_type
      type.capitalize
    end

    def destination
      folder || '.'
    end

    def fingerprint
      Digest::SHA256.hexdigest([type, url, destination].join('|'))
    end
  end

  class GitMaterial < Material
    attr_reader :branch

    def initialize(branch: 'master', **rest)
      @branch = branch
      super(**rest)
    end

    def type
      'git'
    end

    def description
      "URL: #{url}, Branch: #{branch}"
    end
  end

  class SvnMaterial < Material
    def type
      'svn'
    end

    def display_type
      'Subversion'
    end

    def description
      "URL: #{url}, Username: #{name.downcase}"
    end
  end

  # Another pipeline's stage as a material.
  class DependencyMaterial < Material
    attr_reader :pipeline, :stage

    def initialize(pipeline:, stage:)
      @pipeline = pipeline
      @stage = stage
      super(name: pipeline, url: "pipeline://#{pipeline}/#{stage}")
    end

    def type
      'pipeline'
    end

    def description
      "#{pipeline} [ #{stage} ]"
    end
  end
end
