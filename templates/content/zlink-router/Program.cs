using Net.Zlink.Extensions.Hosting;
using JobWorker1;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
builder.Services.AddZlinkRouter("jobs").AddHealthCheck(); // appsettings.json says where it binds.
builder.Services.AddHostedService<JobServer>();
return await builder.Build().RunZlinkAsync(); // A wrong setting is one message and exit code 1.
