# frozen_string_literal: true

module Go
  class StagePresenter < Presenter
    attributes :name, :counter, :status, :approved_by

    def initialize(model, instance)
      super(model)
      @instance = instance
    end

    private

    def details
      locator = stage_locator(@instance, model)
      {
        scheduled: model.scheduled?,
        details_path: stage_path(locator),
        jobs: JobPresenter.present_all(model.jobs, locator)
      }
    end
  end
end
