# frozen_string_literal: true

module Go
  class MaterialPresenter < Presenter
    attributes :name, :type, :display_type, :description, :destination

    private

    def details
      fields = { fingerprint: model.fingerprint }
      case model
      when DependencyMaterial then fields.merge(pipeline: model.pipeline, stage: model.stage)
      when GitMaterial then fields.merge(url: model.url, branch: model.branch)
      else fields.merge(url: model.url)
      end
    end
  end
end
