# frozen_string_literal: true

module Go
  # Texts by dotted key, with %{name} interpolation.
  class Translations
    class Missing < KeyError; end

    def initialize(tree)
      @texts = flatten(tree).freeze
    end

    def lookup(key, scope: nil, **values)
      full_key = scope ? "#{scope}.#{key}" : key.to_s
      text = @texts.fetch(full_key) { raise Missing, "no text for #{full_key}" }
      values.empty? ? text : interpolate(text, values)
    end

    private

    def interpolate(text, values)
      text.gsub(/%\{(\w+)\}/) { values.fetch(Regexp.last_match(1).to_sym).to_s }
    end

    def flatten(tree, prefix = nil)
      tree.each_with_object({}) do |(key, value), texts|
        path = [prefix, key].compact.join('.')
        if value.is_a?(Hash)
          texts.merge!(flatten(value, path))
        else
          texts[path] = value.freeze
        end
      end
    end
  end

  ENGLISH = Translations.new(
    product: { name: 'Go', tagline: 'Continuous Delivery' },
    navigation: {
      pipelines: 'Pipelines', environments: 'Environments', agents: 'Agents', admin: 'Admin',
      help: 'Need Help?', signed_in_as: 'Signed in as %{user}'
    },
    admin: {
      title: 'Administration', breadcrumb: 'Pipeline configuration',
      clone: 'Clone', extract_template: 'Extract Template', delete: 'Delete'
    },
    tabs: {
      settings: 'Stage Settings', jobs: 'Jobs', environment_variables: 'Environment Variables',
      permissions: 'Permissions'
    },
    stage: {
      heading: 'Stage settings of %{stage}',
      name: 'Stage name', approval: 'Stage type', on_success: 'On Success', manual: 'Manual',
      fetch_materials: 'Fetch materials', never_cleanup: 'Never cleanup artifacts',
      clean_working_dir: 'Clean working directory'
    },
    hint: {
      approval: 'Runs when the previous stage of %{pipeline} passes, or only by hand.',
      fetch_materials: 'Perform material updates or checkouts.',
      never_cleanup: 'Never clean up the artifacts of this stage.',
      clean_working_dir: 'Remove all files and folders in the working directory on the agent.',
      timeout: 'Cancelled after this many minutes without console output.',
      run_type: 'Run on all agents, on some of them, or on any one.',
      variables: 'Those of a job come before those of its stage.'
    },
    job: {
      heading: 'Job %{number} of %{total}: %{name}', name: 'Job name', resources: 'Resources',
      timeout: 'Job timeout', run_type: 'Run type', tasks: 'Tasks', artifacts: 'Artifacts',
      none: 'Nothing is configured yet.'
    },
    variable: {
      heading: 'Environment variables', name: 'Name', value: 'Value', secure: 'Secure', add: 'Add'
    },
    actions: { save: 'Save', reset: 'Reset' },
    build_cause: {
      changes: 'modified by %{user}', forced: 'forced by %{user}', dependency: 'triggered by %{pipeline}'
    },
    footer: { version: 'Go version %{version}', copyright: 'Sample data, %{year}' },
    error: {
      not_found: 'The page you are looking for is not here.',
      not_found_detail: 'There is nothing at %{path}. It may have been renamed or deleted.',
      internal: 'The server could not answer this request.',
      internal_detail: 'The reason is in the log of the server.',
      back: 'Back to the dashboard'
    }
  )
end
