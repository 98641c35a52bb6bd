# frozen_string_literal: true

module Go
  class ModificationPresenter < Presenter
    attributes :revision, :user, :comment

    private

    def details
      { modified_at: timestamp(model.modified_at), files: model.files.map { |path| present_file(path) } }
    end

    def present_file(path)
      folder, _, name = path.rpartition('/')
      { name: name, folder: folder, action: folder.start_with?('config') ? 'added' : 'modified' }
    end
  end
end
