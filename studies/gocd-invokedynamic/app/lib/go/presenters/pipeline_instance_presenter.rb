# frozen_string_literal: true

module Go
  class PipelineInstancePresenter < Presenter
    attributes :label, :counter

    private

    def details
      {
        scheduled_at: timestamp(model.scheduled_at),
        active: model.active?,
        value_stream_map_path: value_stream_map_path(model),
        compare_path: compare_path(model),
        build_cause: BuildCausePresenter.new(model.build_cause).to_h,
        stages: StagePresenter.present_all(model.stages, model)
      }
    end
  end
end
