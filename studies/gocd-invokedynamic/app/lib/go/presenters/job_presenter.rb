# frozen_string_literal: true

module Go
  class JobPresenter < Presenter
    attributes :name, :state, :result

    def initialize(model, stage_locator)
      super(model)
      @stage_locator = stage_locator
    end

    private

    def details
      {
        agent: model.agent,
        duration: duration,
        details_path: job_path(@stage_locator, model.name)
      }
    end

    def duration
      seconds = model.seconds
      seconds && format('%<minutes>d:%<seconds>02d', minutes: seconds / 60, seconds: seconds % 60)
    end
  end
end
