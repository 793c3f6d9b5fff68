"""Package metadata, all of it read from settings.ini."""
import re
import sys
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

here = Path(__file__).parent
sys.path.insert(0, str(here / "tools"))
parser = ConfigParser(delimiters=["="])
parser.read(here / "settings.ini", encoding="utf-8")
cfg = parser["DEFAULT"]
extras = {key.removesuffix("_requirements"): value.split()
          for key, value in cfg.items() if key.endswith("_requirements")}
for name in sorted(extras.keys() - {"dev", "spark"}): extras["dev"] += extras[name]

files = f"{cfg['git_url']}/blob/{cfg['branch']}/"
readme = (here / "README.md").read_text(encoding="utf-8")


class WithStubs(build_py):
    "Writes type stubs into a wheel; an editable install shows the sources."
    def run(self):
        super().run()
        if self.editable_mode: return
        from stubs import write
        write(Path(self.build_lib) / "tfs")


setup(
    cmdclass={"build_py": WithStubs},
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    # a package index has no files beside the page
    long_description=re.sub(r"\]\((?!\w+:|#)", "](" + files, readme),
    long_description_content_type="text/markdown",
    keywords=cfg["keywords"].split(),
    author=cfg["author"],
    author_email=cfg["author_email"],
    url=cfg["doc_host"] + cfg["doc_baseurl"] + "/",
    project_urls={"Source": cfg["git_url"], "Issues": cfg["git_url"] + "/issues",
                  "Changes": files + "CHANGELOG.md"},
    license="Apache-2.0",
    license_files=["LICENSE", "LICENSE-TEXT"],
    packages=find_packages(include=["tfs", "tfs.*"]),
    package_data={"tfs": ["sample/*", "py.typed"]},
    python_requires=">=" + cfg["min_python"],
    install_requires=cfg["requirements"].split(),
    extras_require=extras,
    entry_points={"console_scripts": cfg["console_scripts"].split(),
                  "nbdev": ["tfs=tfs._modidx:d"]},
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Education",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)),
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    zip_safe=False,
)
