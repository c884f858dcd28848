using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Routing;
using Microsoft.Net.Http.Headers;

namespace Net.Zlink.AspNetCore;

/// <summary>Serves the JavaScript module to pages.</summary>
public static class ZlinkScriptExtensions
{
    private const string Name = "zlink.js";

    /// <summary>Serves the JavaScript module net-zlink at a path of the application, so that a page can import it.</summary>
    /// <example>
    /// <code>
    /// app.MapZlinkScript("/zlink.js"); // In a page: import { Sub, text } from "/zlink.js";
    /// </code>
    /// </example>
    /// <remarks>The module is the one of this version of the package. A browser asks whether its copy is still the newest one, and gets
    /// 304 then.</remarks>
    /// <param name="endpoints">The application's routes.</param>
    /// <param name="pattern">The route.</param>
    /// <returns>The endpoint, for conventions.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    public static IEndpointConventionBuilder MapZlinkScript(
        this IEndpointRouteBuilder endpoints, [StringSyntax("Route")] string pattern = "/" + Name)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(pattern);
        using var read = new MemoryStream();
        using (Stream resource = typeof(ZlinkScriptExtensions).Assembly.GetManifestResourceStream(Name)!)
        {
            resource.CopyTo(read);
        }

        byte[] script = read.ToArray();
        var tag = new EntityTagHeaderValue($"\"{Convert.ToHexStringLower(SHA256.HashData(script))}\"");
        FileContentHttpResult answer = TypedResults.Bytes(script, "text/javascript; charset=utf-8", entityTag: tag);
        return endpoints.MapMethods(pattern, [HttpMethods.Get, HttpMethods.Head], context =>
        {
            context.Response.Headers.CacheControl = "no-cache"; // Ask each time: a new version of the server has a new module.
            return answer.ExecuteAsync(context);
        });
    }
}
