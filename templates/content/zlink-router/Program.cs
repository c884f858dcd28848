using Net.Zlink.Extensions.Hosting;
using JobWorker1;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
builder.Services.AddZlinkRouter("jobs").AddHealthCheck(); // appsettings.json says where it binds.
builder.Services.AddHostedService<JobServer>();
await builder.Build().RunAsync();
