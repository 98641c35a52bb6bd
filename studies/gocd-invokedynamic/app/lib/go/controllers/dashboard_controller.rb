# frozen_string_literal: true

module Go
  class DashboardController < Controller
    def index
      json PipelineGroupPresenter.present_all(repository.groups, repository)
    end
  end
end
