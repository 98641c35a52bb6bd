# frozen_string_literal: true

require 'cgi/escape'
require 'digest'
require 'erb'
require 'json'

# A GoCD-like server in plain Ruby: the two pages that the study loads.
#
# One instance of the application serves all threads. Everything reachable from
# it is built at start and frozen; whatever changes lives in objects that are
# made anew for each request.
module Go
end

# Everything is required up front: with 20 threads sharing one runtime, lazy
# loading would put the cost (and the locks) into the first measured requests.
require 'go/clock'
require 'go/safe_string'
require 'go/translations'
require 'go/models/material'
require 'go/models/modification'
require 'go/models/build_cause'
require 'go/models/environment_variable'
require 'go/models/task'
require 'go/models/job_config'
require 'go/models/stage_config'
require 'go/models/pipeline_config'
require 'go/models/job_instance'
require 'go/models/stage_instance'
require 'go/models/pipeline_instance'
require 'go/models/pipeline_group'
require 'go/models/repository'
require 'go/sample_data'
require 'go/helpers/url_helper'
require 'go/helpers/tag_helper'
require 'go/helpers/translation_helper'
require 'go/helpers/form_builder'
require 'go/helpers/form_helper'
require 'go/helpers/navigation_helper'
require 'go/helpers/stage_helper'
require 'go/presenters/presenter'
require 'go/presenters/modification_presenter'
require 'go/presenters/material_presenter'
require 'go/presenters/build_cause_presenter'
require 'go/presenters/job_presenter'
require 'go/presenters/stage_presenter'
require 'go/presenters/pipeline_instance_presenter'
require 'go/presenters/pipeline_presenter'
require 'go/presenters/pipeline_group_presenter'
require 'go/template'
require 'go/templates'
require 'go/view'
require 'go/request'
require 'go/router'
require 'go/controllers/controller'
require 'go/controllers/errors_controller'
require 'go/controllers/stages_controller'
require 'go/controllers/dashboard_controller'
require 'go/application'

module Go
  # Builds the Rack application for the folder that holds `views/`.
  def self.application(root)
    router = Router.new do
      get '/go/admin/pipelines/:pipeline/stages/:stage/settings', StagesController, :settings
      get '/go/pipelines.json', DashboardController, :index
    end
    Application.new(
      router: router,
      repository: SampleData.repository,
      templates: Templates.load(File.join(root, 'views'))
    )
  end
end
