# frozen_string_literal: true

module Go
  # Five pipelines in two groups. Everything follows from names and numbers by
  # rule (no random numbers, no clock), so every start makes the same data.
  module SampleData
    PEOPLE = [
      ['Maya O\'Neil', 'maya@example.com'], ['Tomás Ferrer', 'tomas@example.com'],
      ['Li Wei', 'li.wei@example.com'], ['Anders Berg', 'anders@example.com']
    ].freeze

    COMMENTS = [
      "Stop the poller before the agents are told\n\nIt answered requests of a server that was half way down.",
      'Show "last run" beside the label & fix the tooltip',
      "Make <pipeline> names case insensitive again\n\nFixes #1482",
      'Upgrade the agent launcher',
      'Take the artifact path from the job, not from the stage'
    ].freeze

    FILES = %w[
      server/src/main/java/PipelineService.java server/webapp/stages/settings.html.erb
      agent/src/main/java/AgentController.java config/cruise-config.xml
    ].freeze

    # Newest first: how many stages of an instance have run, and how the last of them went.
    HISTORY = [[3, 'Building'], [3, 'Passed']].freeze

    module_function

    def repository
      groups = [
        PipelineGroup.new(name: 'defaultGroup', pipelines: [hello, pipeline('world'), pipeline('agent-bootstrapper')]),
        PipelineGroup.new(name: 'release', pipelines: [pipeline('installers', after: 'hello'), pipeline('acceptance', after: 'world')])
      ]
      configs = groups.flat_map(&:pipelines)
      Repository.new(groups: groups, instances: configs.each_with_index.flat_map { |config, index| history(config, index) })
    end

    # The pipeline whose stage settings the study asks for: three jobs.
    def hello
      PipelineConfig.new(
        name: 'hello',
        materials: [git('hello'), svn('hello')],
        stages: [default_stage, StageConfig.new(name: 'package', jobs: [job('bundle')]), deploy_stage]
      )
    end

    def default_stage
      StageConfig.new(
        name: 'defaultStage', clean_working_dir: true,
        variables: [
          EnvironmentVariable.new('GO_SERVER_URL', 'https://go.example.com:8154/go'),
          EnvironmentVariable.new('BUILD_OPTS', '-Dmode="fast" & quiet'),
          EnvironmentVariable.new('SIGNING_KEY', 'not for display', secure: true)
        ],
        jobs: [compile_job, specs_job, functional_job]
      )
    end

    def deploy_stage
      StageConfig.new(name: 'deploy', approval: 'manual', fetch_materials: false, never_cleanup: true, jobs: [job('publish')])
    end

    def compile_job
      JobConfig.new(
        name: 'compile', resources: %w[linux jdk8], timeout: 30,
        tasks: [ExecTask.new('ant', '-f', 'build.xml', 'clean compile'), RakeTask.new('db:migrate')],
        artifacts: [artifact('build', 'target/go.jar', 'pkg'), artifact('test', 'target/reports', 'reports')],
        variables: [EnvironmentVariable.new('ANT_OPTS', '-Xmx512m -XX:MaxPermSize=256m')]
      )
    end

    def specs_job
      JobConfig.new(
        name: 'specs', resources: %w[jruby linux], run_type: 'some',
        tasks: [
          FetchTask.new(pipeline: 'hello', stage: 'defaultStage', job: 'compile', source: 'pkg/go.jar'),
          RakeTask.new('spec'), ExecTask.new('./report.sh', '--format', 'junit <xml>', run_if: 'any')
        ],
        artifacts: [artifact('test', 'spec/reports/*.xml', 'specs')],
        variables: [EnvironmentVariable.new('JRUBY_OPTS', '-J-Xss2m'), EnvironmentVariable.new('DB_PASSWORD', 'no', secure: true)]
      )
    end

    def functional_job
      JobConfig.new(
        name: 'functional', resources: %w[firefox windows], timeout: 90, run_type: 'all',
        tasks: [ExecTask.new('cmd', '/c', 'run-functional.bat'), RakeTask.new('twist:report', run_if: 'failed')],
        artifacts: [artifact('build', 'logs/**/*.log', 'logs')]
      )
    end

    def pipeline(name, after: nil)
      materials = [git(name), after ? DependencyMaterial.new(pipeline: after, stage: 'defaultStage') : svn(name)]
      PipelineConfig.new(
        name: name, materials: materials, label_template: '1.4-${COUNT}',
        paused_by: (name == 'acceptance' ? 'admin' : nil),
        pause_cause: (name == 'acceptance' ? 'waiting for new agents' : nil),
        stages: [
          StageConfig.new(name: 'defaultStage', jobs: [job('compile'), job('specs'), job('functional')]),
          StageConfig.new(name: 'package', jobs: [job('bundle')]),
          StageConfig.new(name: 'deploy', approval: 'manual', jobs: [job('publish')])
        ]
      )
    end

    def job(name)
      JobConfig.new(name: name, resources: %w[linux], tasks: [RakeTask.new(name)])
    end

    def git(name)
      GitMaterial.new(name: "#{name}-git", url: "https://git.example.com/studio/#{name}.git", folder: 'source')
    end

    def svn(name)
      SvnMaterial.new(name: "#{name}-config", url: "https://svn.example.com/config/#{name}/trunk", folder: 'config')
    end

    def artifact(type, source, destination)
      JobConfig::Artifact.new(type, source, destination)
    end

    def history(config, index)
      HISTORY.each_with_index.map do |(stage_count, outcome), age|
        counter = 40 + (index * 7) - age
        at = Clock::NOW - (((age * 26) + (index * 5) + 1) * 3_600) - (index * 420)
        PipelineInstance.new(
          config: config, counter: counter, scheduled_at: at,
          build_cause: build_cause(config, counter, at, forced: (index + age) % 4 == 3),
          stages: stages(config, stage_count, outcome, at)
        )
      end
    end

    def stages(config, count, outcome, at)
      config.stages.each_with_index.map do |stage, index|
        last = index == count - 1
        started = at + (index * 1_500)
        jobs = index < count ? stage.jobs.each_with_index.map { |job, n| job_instance(job, n, last ? outcome : 'Passed', started) } : []
        StageInstance.new(name: stage.name, counter: 1, approved_by: stage.manual? ? 'admin' : 'changes', jobs: jobs)
      end
    end

    def job_instance(job, number, outcome, at)
      building = outcome == 'Building'
      JobInstance.new(
        name: job.name, agent: "agent-#{number + 1}.example.com",
        state: building ? 'Building' : 'Completed', result: building ? 'Unknown' : outcome,
        scheduled_at: at, completed_at: building ? nil : at + 300 + (number * 75)
      )
    end

    def build_cause(config, counter, at, forced:)
      revisions = config.materials.each_with_index.map do |material, index|
        changes = index.zero? ? 2 : 1
        BuildCause::Revision.new(material, Array.new(changes) { |n| modification(material, counter - n, at - ((n + 1) * 1_260)) }, index == counter % 2)
      end
      BuildCause.new(revisions: revisions, approver: forced ? 'admin' : nil)
    end

    def modification(material, number, at)
      author, email = PEOPLE[number % PEOPLE.size]
      Modification.new(
        revision: Digest::SHA1.hexdigest("#{material.url} #{number}"),
        author: author, email: email, comment: COMMENTS[number % COMMENTS.size],
        modified_at: at, files: FILES.rotate(number).first(1 + (number % 2))
      )
    end
  end
end
