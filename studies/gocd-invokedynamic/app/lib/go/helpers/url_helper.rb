# frozen_string_literal: true

module Go
  # Every path of the server in one place.
  module UrlHelper
    ROOT = '/go'

    def go_path(*segments)
      segments.inject(+ROOT) { |path, segment| path << '/' << escape_segment(segment) }
    end

    def asset_path(name)
      "#{ROOT}/assets/#{name}"
    end

    def stage_settings_path(pipeline, stage, tab = 'settings')
      go_path('admin', 'pipelines', pipeline.name, 'stages', stage.name, tab)
    end

    def job_settings_path(pipeline, stage, job, tab = 'settings')
      go_path('admin', 'pipelines', pipeline.name, 'stages', stage.name, 'job', job.name, tab)
    end

    def pipeline_settings_path(pipeline)
      go_path('admin', 'pipelines', pipeline.name, 'general')
    end

    def pipeline_history_path(pipeline)
      go_path('tab', 'pipeline', 'history', pipeline.name)
    end

    def pipeline_action_path(pipeline, action)
      go_path('api', 'pipelines', pipeline.name, action)
    end

    def value_stream_map_path(instance)
      go_path('pipelines', 'value_stream_map', instance.name, instance.counter)
    end

    def compare_path(instance)
      go_path('compare', instance.name, instance.counter - 1, 'with', instance.counter)
    end

    def stage_locator(instance, stage)
      [instance.name, instance.counter, stage.name, stage.counter]
    end

    def stage_path(locator)
      go_path('pipelines', *locator)
    end

    def job_path(locator, job_name)
      go_path('tab', 'build', 'detail', *locator, job_name)
    end

    private

    # CGI.escape is for query strings: in a path a blank is %20.
    def escape_segment(segment)
      CGI.escape(segment.to_s).gsub('+', '%20')
    end
  end
end
