# frozen_string_literal: true

module Go
  class Task
    attr_reader :run_if

    def initialize(run_if: 'passed')
      @run_if = run_if
    end

    def type
      self.class.name.split('::').last.sub(/Task\z/, '').downcase
    end

    def on_cancel?
      false
    end
  end

  class ExecTask < Task
    attr_reader :command, :arguments

    def initialize(command, *arguments, **rest)
      super(**rest)
      @command = command
      @arguments = arguments.freeze
      freeze
    end

    def describe
      [command, *arguments].map { |word| word.match?(/\s/) ? %("#{word}") : word }.join(' ')
    end
  end

  class RakeTask < Task
    attr_reader :target

    def initialize(target, **rest)
      super(**rest)
      @target = target
      freeze
    end

    def describe
      "rake #{target}"
    end
  end

  class FetchTask < Task
    attr_reader :pipeline, :stage, :job, :source

    def initialize(pipeline:, stage:, job:, source:, **rest)
      super(**rest)
      @pipeline = pipeline
      @stage = stage
      @job = job
      @source = source
      freeze
    end

    def describe
      "fetch #{source} from #{[pipeline, stage, job].join(' > ')}"
    end

    def on_cancel?
      true
    end
  end
end
