# frozen_string_literal: true

module Go
  class PipelinePresenter < Presenter
    attributes :name

    def initialize(model, repository)
      super(model)
      @repository = repository
    end

    private

    def details
      {
        paused: model.paused?,
        pause: model.paused? ? { by: model.paused_by, cause: model.pause_cause } : nil,
        can_operate: true,
        can_administer: true,
        settings_path: pipeline_settings_path(model),
        history_path: pipeline_history_path(model),
        trigger_path: pipeline_action_path(model, model.paused? ? 'unpause' : 'schedule'),
        materials: MaterialPresenter.present_all(model.materials),
        instances: PipelineInstancePresenter.present_all(@repository.instances_of(model))
      }
    end
  end
end
