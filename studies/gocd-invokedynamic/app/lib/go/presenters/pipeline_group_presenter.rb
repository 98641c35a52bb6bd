# frozen_string_literal: true

module Go
  class PipelineGroupPresenter < Presenter
    attributes :name

    def initialize(model, repository)
      super(model)
      @repository = repository
    end

    private

    def details
      { pipelines: PipelinePresenter.present_all(model.pipelines, @repository) }
    end
  end
end
