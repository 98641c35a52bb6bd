# frozen_string_literal: true

module Go
  class BuildCausePresenter < Presenter
    private

    def details
      {
        message: ENGLISH.lookup(model.message_key, scope: 'build_cause', **model.message_values),
        forced: model.forced?,
        approver: model.approver,
        revisions: model.revisions.map { |revision| present_revision(revision) }
      }
    end

    def present_revision(revision)
      {
        material: revision.material.name,
        changed: revision.changed,
        modifications: ModificationPresenter.present_all(revision.modifications)
      }
    end
  end
end
