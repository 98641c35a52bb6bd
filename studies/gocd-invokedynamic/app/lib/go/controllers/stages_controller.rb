# frozen_string_literal: true

module Go
  class StagesController < Controller
    def settings
      pipeline = repository.pipeline(params[:pipeline]) or raise NotFound
      stage = pipeline.stage(params[:stage]) or raise NotFound

      html 'stages/settings', pipeline: pipeline, stage: stage, group: repository.group_of(pipeline), tab: 'settings'
    end
  end
end
